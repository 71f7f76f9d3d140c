// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors
//
// QNetworkInformation as netpath's service answers it. Where the service does not answer at once there is no backend, and Qt
// goes on to the next. Qt's interface of backends is private, and the same in one version only.
#include "begin.h"

#include <QCoreApplication>
#include <QSocketNotifier>
#include <QtNetwork/private/qnetworkinformation_p.h>

#include <cstring>
#include <memory>

using Information = QNetworkInformation;

static constexpr Information::Features features()
{
    using Feature = Information::Feature;
    return {Feature::Reachability, Feature::CaptivePortal, Feature::TransportMedium, Feature::Metered};
}

static Information::Reachability reachabilityOf(const netpath_path &path)
{
    if (path.internet == NETPATH_INTERNET_PORTAL) return Information::Reachability::Site;
    switch (path.status) {
    case NETPATH_UNSATISFIED:
    case NETPATH_REQUIRES_CONNECTION: return Information::Reachability::Disconnected;
    case NETPATH_SATISFIED:
        return path.internet == NETPATH_INTERNET_UNREACHABLE ? Information::Reachability::Site
                                                              : Information::Reachability::Online;
    default: return Information::Reachability::Unknown;
    }
}

static Information::TransportMedium mediumOf(const netpath_path &path)
{
    const auto is = [&](const char *type) { return std::strcmp(path.interface_type, type) == 0; };
    if (is("wifi")) return Information::TransportMedium::WiFi;
    if (is("wired")) return Information::TransportMedium::Ethernet;
    if (is("cellular")) return Information::TransportMedium::Cellular;
    return Information::TransportMedium::Unknown;
}

class NetpathBackend : public QNetworkInformationBackend
{
public:
    NetpathBackend(netpath *opened, const netpath_path &path)
        : handle(opened), notifier(netpath_fd(opened), QSocketNotifier::Read, this)
    {
        show(path);
        connect(&notifier, &QSocketNotifier::activated, this, [this] { process(); });
    }

    ~NetpathBackend() override
    {
        notifier.setEnabled(false);
        netpath_close(handle);
    }

    QString name() const override { return QStringLiteral("netpath"); }
    Information::Features featuresSupported() const override { return features(); }

private:
    void process()
    {
        netpath_path path;
        netpath_process(handle);
        if (netpath_next(handle, &path, sizeof path) == 1) show(path);
    }

    // Reachability comes last: what a program reads when it changes is new, too.
    void show(const netpath_path &path)
    {
        const auto reachable = reachabilityOf(path);
        const bool isThere = reachable == Information::Reachability::Online || reachable == Information::Reachability::Site;
        setBehindCaptivePortal(path.internet == NETPATH_INTERNET_PORTAL);
        setMetered(path.flags & (NETPATH_EXPENSIVE | NETPATH_CONSTRAINED));
        setTransportMedium(isThere ? mediumOf(path) : Information::TransportMedium::Unknown);
        setReachability(reachable);
    }

    netpath *handle;
    QSocketNotifier notifier;
};

class NetpathFactory : public QNetworkInformationBackendFactory
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID QNetworkInformationBackendFactory_iid)
    Q_INTERFACES(QNetworkInformationBackendFactory)

public:
    QString name() const override { return QStringLiteral("netpath"); }
    Information::Features featuresSupported() const override { return features(); }

    QNetworkInformationBackend *create(Information::Features required) const override
    {
        if ((required & features()) != required || !QCoreApplication::instance()) return nullptr;
        if (std::strcmp(qVersion(), QT_VERSION_STR) != 0) {
            qWarning("netpath: this plugin was built with Qt %s, and not for Qt %s: build it again", QT_VERSION_STR,
                     qVersion());
            return nullptr;
        }
        netpath *handle;
        netpath_path path;
        return begin(&handle, &path) == 0 ? new NetpathBackend(handle, path) : nullptr;
    }
};

#include "backend.moc"
